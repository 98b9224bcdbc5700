"""From a text to a parsed query: what stands around it, how it is quoted, and which dialect it is written in."""

import re

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from merit.grounding.clauses import in_order
from merit.grounding.dialects import EngineDialect
from merit.grounding.graph import SchemaGraph
from merit.types.grounding import GroundingChange, GroundingRule

_TAG_OR_SPACE = re.compile(r"\s+|<\s*\\?/\s*\w+\s*>?|<\s*\w+\s*>|`{1,3}|;")
_FENCE_AT_START = re.compile(
    r"^\s*(?:`{3}\s*(?:sql)?|`(?=\s*(?:select|with)\b)|(?:sql|answer)\s*:|<\s*\w+\s*>)\s*", re.I
)
_SYNTAX_ERROR = re.compile(
    r"syntax error|incomplete input|unrecognized token|unterminated|SQL syntax|Parser Error|LIMIT #", re.I
)
_MYSQL_MODIFIER = re.compile(r"\bselect\s+(SQL_(?:CALC_FOUND_ROWS|NO_CACHE|CACHE|BIG_RESULT|SMALL_RESULT))\s+", re.I)
_MOST_CLOSED = 3  # parentheses that are added or taken away at the end
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)

# Syntax that sqlglot reads in every dialect, and the engines that lack it.
_FOREIGN: dict[TokenType, tuple[str, tuple[str, ...]]] = {
    TokenType.DCOLON: ("a cast with ::", ("sqlite", "mysql", "mariadb")),
    TokenType.FETCH: ("FETCH FIRST", ("sqlite", "mysql")),
}
# Calls that sqlglot has read into nodes of its own already.
_FOREIGN_CALLS: tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...] = (
    (re.compile(r"\bposition\s*\([^()]*\bin\b", re.I), "POSITION", ("sqlite",)),
    (re.compile(r"\bsubstring\s*\([^()]*\bfrom\b", re.I), "SUBSTRING with FROM", ("sqlite",)),
    (re.compile(r"\b(?:string_agg|listagg)\s*\(", re.I), "STRING_AGG", ("mysql", "mariadb")),
)


class Reader:
    """Turns a text that a database refused into a query, and notes what had to be changed for that."""

    def __init__(self, dialect: EngineDialect, graph: SchemaGraph, rules: frozenset[GroundingRule], error: str) -> None:
        self._dialect = dialect
        self._graph = graph
        self._rules = rules
        self._is_syntax = bool(_SYNTAX_ERROR.search(error))
        self.changes: list[GroundingChange] = []

    def read(self, sql: str) -> exp.Query | None:
        """The query, or None where the text is none."""
        sql = self._without_modifier(self._cleaned(sql))
        sql = self._requoted(sql)
        sql = self._dotted(sql)
        tree = self._dialect.parse(sql)
        if tree is None:
            sql = self._ordered(self._balanced(sql))
            tree = self._dialect.parse(sql)
        if tree is None:
            return self._foreign(sql) or self._from_select(sql)
        self._note_syntax(sql)
        return tree

    def _note(self, rule: GroundingRule, why: str) -> None:
        self.changes.append(GroundingChange(rule, why))

    def _cleaned(self, sql: str) -> str:
        """Without what stands before and after the query."""
        if GroundingRule.SYNTAX not in self._rules:
            return sql
        new = _FENCE_AT_START.sub("", _without_tags(sql))
        if new.count("`") % 2 and sql.count("`") % 2 == 0:
            return sql  # it was the end of a name
        tokens = self._dialect.tokens(new)
        end = next((token.start for token in tokens if token.token_type is TokenType.SEMICOLON), None)
        if end is not None and new[end + 1 :].strip() and self._dialect.parse(new[:end]) is not None:
            new = new[:end]
        left_out = [part for part in (sql[: sql.find(new)], sql[sql.find(new) + len(new) :]) if part.strip(" ;\n\t")]
        if not left_out or not new.strip():
            return sql
        shown = " ".join(" ".join(left_out).split())[:40]
        self._note(GroundingRule.SYNTAX, f"{shown}: this stands beside the query and is left out")
        return new

    def _without_modifier(self, sql: str) -> str:
        """Without what MySQL says to its own cache and buffers."""
        found = _MYSQL_MODIFIER.search(sql)
        if found is None or self._dialect.name == "mysql" or GroundingRule.FUNCTION not in self._rules:
            return sql
        self._note(GroundingRule.FUNCTION, f"{found[1]}: this is for MySQL alone")
        return _MYSQL_MODIFIER.sub("SELECT ", sql)

    def _requoted(self, sql: str) -> str:
        """'T1'.'name' with the quotes of names."""
        if GroundingRule.QUOTES not in self._rules or not re.search(r"'\s*\.|\.\s*'", sql):
            return sql
        tokens = self._dialect.tokens(sql)
        for i in range(len(tokens) - 1, -1, -1):
            token = tokens[i]
            beside = [tokens[j].token_type for j in (i - 1, i + 1) if 0 <= j < len(tokens)]
            if token.token_type is TokenType.STRING and TokenType.DOT in beside:
                mark = "`" if self._dialect.name == "mysql" else '"'
                sql = f"{sql[: token.start]}{mark}{token.text}{mark}{sql[token.end + 1 :]}"
                self._note(GroundingRule.QUOTES, f"'{token.text}': this is a name, not a text")
        return sql

    def _dotted(self, sql: str) -> str:
        """`T1 name` with the dot that is missing, where T1 is a table of the query that has the column."""
        if GroundingRule.SYNTAX not in self._rules:
            return sql
        tokens = self._dialect.tokens(sql)
        tables = self._aliases(tokens)
        for i in range(len(tokens) - 2, 0, -1):
            qualifier, column, before = tokens[i], tokens[i + 1], tokens[i - 1].token_type
            table = tables.get(qualifier.text.lower())
            if table is None or qualifier.token_type not in _NAMES or column.token_type not in _NAMES:
                continue
            opens = before in (TokenType.ALIAS, TokenType.R_PAREN, TokenType.FROM, TokenType.JOIN, TokenType.DOT)
            if not opens and before not in _NAMES and column.text.lower() in self._graph.columns[table]:
                sql = f"{sql[: qualifier.end + 1]}.{sql[column.start :]}"
                text = f"{qualifier.text} {column.text}: {column.text} is a column of {self._graph.tables[table]}"
                self._note(GroundingRule.SYNTAX, f"{text}; the dot was missing")
        return sql

    def _aliases(self, tokens: list[Token]) -> dict[str, str]:
        """The lower-case tables of a query by what columns are qualified with."""
        found: dict[str, str] = {}
        for i, token in enumerate(tokens):
            after_from = i > 0 and tokens[i - 1].token_type in (TokenType.FROM, TokenType.JOIN, TokenType.COMMA)
            if not after_from or token.text.lower() not in self._graph.tables:
                continue
            rest = tokens[i + 1 : i + 3]
            if rest and rest[0].token_type is TokenType.ALIAS:
                rest = rest[1:]
            name = rest[0].text if rest and rest[0].token_type in _NAMES else token.text
            found[name.lower()] = token.text.lower()
        return found

    def _balanced(self, sql: str) -> str:
        """With parentheses at its end that are missing, or without those that are too many."""
        tokens = self._dialect.tokens(sql)
        if GroundingRule.SYNTAX not in self._rules or not tokens:
            return sql
        depth = sum({TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0) for token in tokens)
        if depth == 0 or abs(depth) > _MOST_CLOSED:
            return sql
        body = sql.rstrip(" ;\n\t")
        new = body + ")" * depth if depth > 0 else body[: len(body) + depth]
        if depth < 0 and body[depth:] != ")" * -depth:
            return sql
        if self._dialect.parse(new) is None:
            return sql
        self._note(GroundingRule.SYNTAX, f"{depth:+d} parentheses were open at the end; they are balanced now")
        return new

    def _ordered(self, sql: str) -> str:
        if GroundingRule.SYNTAX not in self._rules:
            return sql
        new = in_order(sql, self._dialect)
        if new is None or self._dialect.parse(new) is None:
            return sql
        self._note(GroundingRule.SYNTAX, "the clauses of the query were out of order")
        return new

    def _foreign(self, sql: str) -> exp.Query | None:
        found = self._dialect.parse_foreign(sql) if GroundingRule.FUNCTION in self._rules else None
        if found is None:
            return None
        tree, dialect = found
        self._note(GroundingRule.FUNCTION, f"the query is {dialect}'s; it is written as {self._dialect.title} has it")
        return tree

    def _from_select(self, sql: str) -> exp.Query | None:
        """The query that begins after some other text."""
        start = re.search(r"\b(?:select|with)\b", sql, re.I)
        tree = self._dialect.parse(sql[start.start() :]) if start and start.start() else None
        if tree is None or start is None or GroundingRule.SYNTAX not in self._rules:
            return None
        shown = " ".join(sql[: start.start()].split())[:40]
        self._note(GroundingRule.SYNTAX, f"{shown}: this stands beside the query and is left out")
        return tree

    def _note_syntax(self, sql: str) -> None:
        """What sqlglot has read already, though the engine could not."""
        for pattern, call, lacking in _FOREIGN_CALLS if GroundingRule.FUNCTION in self._rules else ():
            if self._dialect.engine in lacking and pattern.search(sql):
                self._note(GroundingRule.FUNCTION, f"{call}: {self._dialect.title} has another way to write it")
        if not self._is_syntax:
            return
        if GroundingRule.SYNTAX in self._rules and not self.changes and in_order(sql, self._dialect) is not None:
            self._note(GroundingRule.SYNTAX, "the clauses of the query were out of order")
        if GroundingRule.FUNCTION not in self._rules:
            return
        for kind in dict.fromkeys(token.token_type for token in self._dialect.tokens(sql)):
            spelled, lacking = _FOREIGN.get(kind, ("", ()))
            if self._dialect.engine in lacking:
                self._note(GroundingRule.FUNCTION, f"{spelled}: {self._dialect.title} has another way to write it")
        limit = re.search(r"\blimit\s+\d+\s*,\s*\d+", sql, re.I)
        if limit and self._dialect.engine in ("postgresql", "duckdb"):
            self._note(GroundingRule.FUNCTION, f"{limit[0]}: {self._dialect.title} writes LIMIT and OFFSET")


def _without_tags(sql: str) -> str:
    """A text without the tags, fences and semicolons at its end, found in one pass however many there are."""
    end = start = 0  # of the tags and spaces that the text ends with, as far as it has been gone through
    for found in _TAG_OR_SPACE.finditer(sql):
        if found.start() != end:
            start = found.start()
        end = found.end()
    return sql[:start] if end == len(sql) and sql[start:].strip() else sql
