#!/usr/bin/env bash
# What is in this folder again, from the model's answers: results/make.sh SPIDER BIRD [SET ...]
#
# SPIDER and BIRD are the benchmarks' folders, with the content that README.md names; a SET is one of those below (default: all).
# Asks no model. Needs merit with the extra [paper] on the PATH and 3 GB of disk; `bird` needs the four examples that README.md
# names in results/work/bird-examples.jsonl. ENCODER can name a local copy: sentence-transformers:/FOLDER/all-MiniLM-L6-v2.
# Everything is made in results/work; what is published is replaced only by a report that has all of its sets.
set -euo pipefail
spider=$(realpath "${1:?usage: results/make.sh SPIDER BIRD [SET ...]}")
bird=$(realpath "${2:?usage: results/make.sh SPIDER BIRD [SET ...]}")
shift 2
cd "$(dirname "$0")"
everything="spider distinct bird bundled spider-no-oracle distinct-no-oracle bird-no-oracle bundled-no-oracle"
everything="$everything history drawn tuning tuning-no-oracle"
minilm=${ENCODER:-sentence-transformers:sentence-transformers/all-MiniLM-L6-v2}
mkdir -p work
export MERIT_CACHE=$PWD/work/cache

paper="zero_shot iterative vanilla reflexion dynamic_rag merit merit_type_reliability positive_only no_type_filter no_dense
  no_bm25 random_same_type cross_database_only transductive_batch resample precedent"
parts="database_bonus=0.0 draws=1 temperature=0.0,draws=1 precedents=1 precedents=2 precedents=8 temperature=0.6
  temperature=1.0 dense=false lexical=false greedy_first=true"
tried="$parts draws=5 precedents=12 dense_weight=0.5 history=true"
principal="zero_shot iterative reflexion dynamic_rag merit resample precedent"

methods_of() {
  case $1 in
    spider) echo $paper $(printf 'precedent:%s ' $parts) ;;
    bird) echo $paper precedent:temperature=0.0,draws=1 ;;
    bundled) echo $paper ;;
    distinct) echo ${paper/vanilla /} ;;
    history) echo zero_shot resample precedent precedent:history=true ;;
    drawn) echo zero_shot iterative iterative:temperature=0.8 merit merit:temperature=0.8 resample precedent ;;
    tuning)
      echo zero_shot iterative merit resample $(printf 'resample:%s ' temperature=0.6 temperature=1.0 draws=1 draws=5)
      echo precedent $(printf 'precedent:%s ' $tried) ;;
    tuning-no-oracle)
      echo zero_shot resample resample:temperature=0.6
      echo precedent $(printf 'precedent:%s ' temperature=0.6 agreed=0.75 agreed=1.0) ;;
    spider-no-oracle) echo zero_shot iterative dynamic_rag merit resample precedent precedent:least_grade=executed ;;
    bird-no-oracle | distinct-no-oracle | bundled-no-oracle) echo zero_shot resample precedent ;;
    *) echo "there is no set '$1'; the sets are $everything" >&2; return 1 ;;
  esac
}

grid_of() {  # SET: its grid file
  local base=${1%-no-oracle} name=spider data=$spider encoder=$minilm seeds="0, 1, 2" more="" methods
  methods=$(methods_of "$1")
  case $base in
    bird) name=bird data=$bird more='examples = "bird-examples.jsonl"' ;;
    bundled) name=bundled data="" encoder=wordllama ;;
    distinct) data=$PWD/work/distinct ;;
    history) seeds=0 more='limit = 500' ;;
    drawn) more='limit = 100' ;;
    tuning) data=$PWD/work/tuning seeds=0 ;;
  esac
  echo "out = \"runs/$1\""
  echo "model = \"replay:$PWD/work/answers.sqlite\""
  echo "encoder = \"$encoder\""
  echo "methods = [$(printf '"%s", ' $methods)]"
  echo "seeds = [$seeds]"
  [ "$1" = "$base" ] || echo 'regime = "dbms_only"'
  printf '[[dataset]]\nname = "%s"\ninitial = "initial/%s.jsonl"\n%s\n' $name $base "$more"
  [ -z "$data" ] || echo "data = \"$data\""
}

runs() {  # SET METHODS: the folders that are there; `any` stands for anything
  local method
  for method in $2; do ls -d work/runs/"$1"/*-dev/${method/any/*} 2>/dev/null || true; done
}

report() {  # NAME AGAINST "SETS" METHODS: tables and figures of some sets, published where all of them are there
  local name=$1 against=$2 sets=$3 set there=""
  for set in $sets; do [ ! -f "work/$set.audit" ] || there="$there $set"; done
  [ -n "$there" ] || return 0
  merit report $(for set in $there; do runs "$set" "$4"; done) --against "$against" --out "work/report/$name"
  if [ "$(echo $there)" != "$(echo $sets)" ]; then
    echo "results/work/report/$name has$there only; results/$name is left as it is"
    return 0
  fi
  mkdir -p "$name/tables" "$name/figures"
  cp "work/report/$name"/tables/*.{md,csv} "$name/tables"
  cp "work/report/$name"/figures/*.svg "$name/figures"
}

if [ ! -f work/answers.sqlite ]; then
  xz -dkc answers-qwen2.5-coder-1.5b.sqlite.xz > work/answers.part
  mv work/answers.part work/answers.sqlite
fi
for set in ${*:-$everything}; do
  grid_of "$set" > "work/$set.toml"
  case ${set%-no-oracle} in
    distinct) [ -d work/distinct ] || merit data subset spider --data "$spider" --distinct --out work/distinct ;;
    tuning) [ -d work/tuning ] || merit data subset spider --data "$spider" --split train --databases 14 --out work/tuning ;;
  esac
  merit grid "work/$set.toml"
  encoder=$minilm data="$spider $bird work/distinct work/tuning"
  [ "${set%-no-oracle}" != bundled ] || encoder=wordllama data=""
  merit audit "work/runs/$set" --encoder "$encoder" $(for one in $data; do [ ! -d $one ] || echo --data $one; done) \
    $([ "$set" != bird ] || echo --examples work/bird-examples.jsonl) | tee work/audit.part
  mv work/audit.part "work/$set.audit"
done
four="spider distinct bird bundled"
report paper merit "spider bird bundled" "$paper"
report distinct merit distinct "$paper"
report precedent precedent "$four" "$principal precedent:any"
report no-oracle precedent "$(printf '%s-no-oracle ' $four)" any
for set in history drawn tuning tuning-no-oracle; do report $set precedent $set any; done
