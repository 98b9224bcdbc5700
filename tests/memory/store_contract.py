"""What any store of a memory must do. A store's tests are a subclass of `StoreContract` that says how to open one."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from making.memories import make_entry, make_precedent
from merit.errors import InputError, MemoryChanged, MemoryUnusable
from merit.memory import Change, Deletion, Entry, Restoration, Staleness, Store, with_id
from merit.types import Polarity

Open = Callable[[], Store]


def entries(first: int, last: int) -> list[Entry]:
    """Entries of every kind, under their ids."""
    return [_entry(number) for number in range(first, last)]


def _entry(number: int) -> Entry:
    if number % 3 == 2:
        return with_id(make_precedent(number))
    return with_id(make_entry(number, polarity=(Polarity.POSITIVE, Polarity.NEGATIVE)[number % 3]))


def changes(store: Store, sequence: int = 0) -> list[Change]:
    return [change for _, change in store.since(sequence)]


def sequences(store: Store, sequence: int = 0) -> list[int]:
    return [number for number, _ in store.since(sequence)]


class StoreContract(ABC):
    """The suite. `opener` opens the same log as often as it is called, as several processes would."""

    durable = True  # whether a log outlives the stores that were opened on it

    @pytest.fixture
    @abstractmethod
    def opener(self) -> Open:
        """Opens the store under test."""

    @pytest.fixture
    def store(self, opener: Open) -> Iterator[Store]:
        with closing(opener()) as store:
            yield store

    # Order.

    def test_a_new_store_is_empty(self, store: Store) -> None:
        assert changes(store) == []
        assert store.append([]) == 0

    def test_changes_come_back_in_the_order_of_their_commits(self, store: Store) -> None:
        made = entries(0, 9)
        for entry in made:
            store.append([entry])
        assert changes(store) == made
        assert sequences(store) == sorted(set(sequences(store)))

    def test_an_append_gives_the_last_number(self, store: Store) -> None:
        assert store.append(entries(0, 1)) == sequences(store)[-1] > 0
        assert store.append(entries(1, 4)) == sequences(store)[-1]
        assert store.append([]) == sequences(store)[-1]

    def test_the_changes_of_an_append_have_consecutive_numbers(self, store: Store) -> None:
        store.append(entries(0, 2))
        last = store.append(entries(2, 6))
        assert sequences(store)[-4:] == [last - 3, last - 2, last - 1, last]

    @pytest.mark.parametrize("begin", range(7))
    def test_since_gives_what_follows_a_number(self, store: Store, begin: int) -> None:
        store.append(entries(0, 6))
        numbers = [0, *sequences(store)]
        assert changes(store, numbers[begin]) == entries(begin, 6)
        assert sequences(store, numbers[begin]) == numbers[begin + 1 :]

    def test_nothing_follows_the_last_number(self, store: Store) -> None:
        last = store.append(entries(0, 3))
        assert changes(store, last) == []
        assert changes(store, last + 1000) == []

    # All or nothing.

    def test_an_expected_number_that_is_not_the_last_writes_nothing(self, store: Store) -> None:
        first = store.append(entries(0, 1), expected=0)
        last = store.append(entries(1, 3), expected=first)
        for wrong in (0, first, last + 1):
            with pytest.raises(MemoryChanged):
                store.append(entries(3, 5), expected=wrong)
        assert changes(store) == entries(0, 3)
        store.append(entries(3, 5), expected=last)
        assert changes(store) == entries(0, 5)

    def test_one_change_that_cannot_be_written_keeps_out_all(self, store: Store) -> None:
        before = store.append(entries(0, 2))
        endless = with_id(make_entry(9, schema="x" * (17 << 20)))
        with pytest.raises(InputError, match="longer than 16 MiB; nothing was written"):
            store.append([*entries(2, 4), endless])
        assert changes(store) == entries(0, 2)
        assert store.append(entries(2, 3)) > before
        assert changes(store) == entries(0, 3)

    # Reading.

    def test_entries_are_read_by_their_ids_in_the_order_asked_for(self, store: Store) -> None:
        made = entries(0, 6)
        store.append(made)
        wanted = [made[4], made[0], made[4], made[5]]
        assert store.read(entry.id for entry in wanted) == wanted
        assert store.read([]) == []

    def test_an_unknown_id_is_refused(self, store: Store) -> None:
        store.append(entries(0, 2))
        with pytest.raises(InputError, match="there is no entry pos-0000000000000000"):
            store.read([entries(0, 1)[0].id, "pos-0000000000000000"])

    def test_a_deleted_entry_is_still_read(self, store: Store) -> None:
        first, second = entries(0, 2)
        store.append([first, second])
        deletion = Deletion(first.id, "wrong join")
        last = store.append([deletion])
        assert list(store.since(0))[-1] == (last, deletion)
        assert store.read([first.id, second.id]) == [first, second]

    def test_a_deletion_of_something_unknown_is_kept_as_it_is(self, store: Store) -> None:
        deletion = Deletion("neg-0123456789abcdef", "an entry that is not here")
        store.append([deletion])
        assert changes(store) == [deletion]

    def test_staleness_is_a_change_like_others(self, store: Store) -> None:
        (first,) = entries(0, 1)
        said = [Staleness(first.id, stale=True, reason="a column is gone"), Staleness(first.id, stale=False, reason="")]
        store.append([first, *said])
        assert changes(store) == [first, *said]
        assert store.read([first.id]) == [first]

    def test_a_restoration_is_a_change_like_others(self, store: Store) -> None:
        (first,) = entries(0, 1)
        said: list[Change] = [Deletion(first.id, "withdrawn"), Restoration(first.id, "judged again")]
        store.append([first, *said])
        assert changes(store) == [first, *said]
        assert store.read([first.id]) == [first]

    def test_texts_of_any_language_come_back(self, store: Store) -> None:
        odd = 'naïve \n\t"quoted" \u2028 \x00 \x1b[2J \U0001f600 中文 \\ ;'
        made = [
            with_id(make_entry(1, question=odd, before=odd, schema=odd, question_id=odd, author=odd)),
            with_id(make_precedent(2, question=odd, sql=odd, db_id=odd, time="2027-01-31T12:00:00Z")),
        ]
        store.append([*made, Deletion(made[0].id, odd)])
        assert changes(store) == [*made, Deletion(made[0].id, odd)]
        assert store.read([made[1].id, made[0].id]) == made[::-1]

    def test_large_entries_and_many_of_them(self, store: Store) -> None:
        large = with_id(make_entry(1, schema="x" * (2 << 20)))
        many = entries(2, 3000)
        store.append([large])
        store.append(many)
        assert changes(store) == [large, *many]
        assert store.read([many[-1].id, large.id]) == [many[-1], large]

    # Fingerprints.

    def test_a_fingerprint_follows_from_what_the_log_holds(self, store: Store) -> None:
        empty = store.fingerprint(0)
        first = store.append(entries(0, 1))
        one = store.fingerprint(first)
        last = store.append(entries(1, 5))
        assert store.fingerprint(first) == one
        assert store.fingerprint(0) == empty
        assert len({store.fingerprint(number) for number in (0, *sequences(store))}) == 6
        assert store.fingerprint(last + 1) is None

    # Several at once.

    def test_a_reader_follows_a_writer(self, opener: Open) -> None:
        with closing(opener()) as writer, closing(opener()) as reader:
            seen: list[Change] = []
            last = 0
            for entry in entries(0, 8):
                writer.append([entry])
                fresh = list(reader.since(last))
                assert [change for _, change in fresh] == [entry]
                assert reader.read([entry.id]) == [entry]
                assert list(reader.since(fresh[-1][0])) == []
                last = fresh[-1][0]
                seen.append(entry)
            assert changes(reader) == seen
            assert reader.fingerprint(last) == writer.fingerprint(last)

    def test_two_writers_take_turns(self, opener: Open) -> None:
        with closing(opener()) as one, closing(opener()) as other:
            numbers = [writer.append([entry]) for writer, entry in zip([one, other] * 4, entries(0, 8), strict=True)]
            assert numbers == sorted(set(numbers))
            assert list(one.since(0)) == list(other.since(0)) == list(zip(numbers, entries(0, 8), strict=True))

    def test_of_two_writers_that_expect_the_same_number_one_comes_first(self, opener: Open) -> None:
        with closing(opener()) as one, closing(opener()) as other:
            last = one.append(entries(0, 1))
            assert sequences(other) == [last]
            one.append(entries(1, 2), expected=last)
            with pytest.raises(MemoryChanged):
                other.append(entries(2, 3), expected=last)
            assert changes(other) == entries(0, 2)

    def test_many_writers_lose_and_overtake_nothing(self, opener: Open) -> None:
        wrong: list[BaseException] = []
        answers: list[int] = []
        watched: list[int] = []
        done = threading.Event()

        def write(first: int) -> None:
            try:
                with closing(opener()) as store:
                    answers.extend(store.append(entries(number, number + 2)) for number in range(first, first + 20, 2))
            except BaseException as error:
                wrong.append(error)

        def watch() -> None:
            """A follower sees each number once, and never one below what it has seen."""
            try:
                with closing(opener()) as store:
                    ended = False
                    while not ended:
                        ended = done.is_set()  # before the last look, so that it sees everything
                        watched.extend(sequences(store, watched[-1] if watched else 0))
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=write, args=(20 * number,)) for number in range(5)]
        watcher = threading.Thread(target=watch)
        for thread in (*threads, watcher):
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        watcher.join()
        assert wrong == []
        with closing(opener()) as store:
            everything = list(store.since(0))
        assert len(everything) == 100
        assert watched == [number for number, _ in everything]
        assert {change.id for _, change in everything} == {entry.id for entry in entries(0, 100)}
        assert len(set(answers)) == 50
        pairs = [change.id for _, change in everything]
        assert all(pairs[at : at + 2] in self._pairs() for at in range(0, 100, 2))  # no append was split

    @staticmethod
    def _pairs() -> list[list[str]]:
        made = [entry.id for entry in entries(0, 100)]
        return [made[at : at + 2] for at in range(0, 100, 2)]

    # Closing.

    def test_a_closed_store_says_so(self, opener: Open) -> None:
        store = opener()
        store.append(entries(0, 1))
        store.close()
        store.close()
        for use in (
            lambda: store.append(entries(1, 2)),
            lambda: list(store.since(0)),
            lambda: store.read([entries(0, 1)[0].id]),
            lambda: store.fingerprint(0),
        ):
            with pytest.raises(MemoryUnusable):
                use()

    def test_what_was_committed_is_there_when_it_is_opened_again(self, opener: Open) -> None:
        if not self.durable:
            pytest.skip("this store lives as long as its process")
        with closing(opener()) as store:
            for entry in entries(0, 4):
                store.append([entry])
            before, fingerprint = list(store.since(0)), store.fingerprint(4)
        with closing(opener()) as store:
            assert list(store.since(0)) == before
            assert store.fingerprint(4) == fingerprint
            assert store.read([entry.id for entry in entries(0, 4)]) == entries(0, 4)
            last = store.append([Deletion(entries(0, 1)[0].id, "x")], expected=before[-1][0])
        with closing(opener()) as store:
            assert sequences(store)[-1] == last
