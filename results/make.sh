#!/usr/bin/env bash
# Everything in this folder again, from the model's answers: results/make.sh SPIDER BIRD [SET ...]
#
# SPIDER and BIRD are the benchmarks' folders; a SET is one of those below (default: all). Asks no model. Needs merit with the
# extra [paper] on the PATH, BIRD's four examples in results/work/bird-examples.jsonl (docs/reproduce.md), and 3 GB of disk.
# ENCODER can name a local copy: sentence-transformers:FOLDER/all-MiniLM-L6-v2.
set -euo pipefail
spider=$(realpath "$1") bird=$(realpath "$2")
shift 2
cd "$(dirname "$0")"
everything="spider distinct bird bundled spider-no-oracle distinct-no-oracle bird-no-oracle bundled-no-oracle"
everything="$everything history tuning tuning-no-oracle"
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
    tuning)
      echo zero_shot iterative merit resample $(printf 'resample:%s ' temperature=0.6 temperature=1.0 draws=1 draws=5)
      echo precedent $(printf 'precedent:%s ' $tried) ;;
    tuning-no-oracle)
      echo zero_shot resample resample:temperature=0.6
      echo precedent $(printf 'precedent:%s ' temperature=0.6 agreed=0.75 agreed=1.0) ;;
    spider-no-oracle) echo zero_shot iterative dynamic_rag merit resample precedent precedent:least_grade=executed ;;
    *-no-oracle) echo zero_shot resample precedent ;;
  esac
}

grid_of() {  # SET: its grid file
  local base=${1%-no-oracle} name=spider data=$spider encoder=$minilm seeds="0, 1, 2" more=""
  case $base in
    bird) name=bird data=$bird more='examples = "bird-examples.jsonl"' ;;
    bundled) name=bundled data="" encoder=wordllama ;;
    distinct) data=$PWD/work/distinct ;;
    history) seeds=0 more='limit = 500' ;;
    tuning) data=$PWD/work/tuning seeds=0 ;;
  esac
  echo "out = \"runs/$1\""
  echo "model = \"replay:$PWD/work/answers.sqlite\""
  echo "encoder = \"$encoder\""
  echo "methods = [$(printf '"%s", ' $(methods_of "$1"))]"
  echo "seeds = [$seeds]"
  [ "$1" = "$base" ] || echo 'regime = "dbms_only"'
  printf '[[dataset]]\nname = "%s"\ninitial = "initial/%s.jsonl"\n%s\n' $name $base "$more"
  [ -z "$data" ] || echo "data = \"$data\""
}

runs() {  # SET METHODS: the folders that are there; `any` stands for anything
  local method
  for method in $2; do ls -d work/runs/"$1"/*-dev/${method/any/*} 2>/dev/null || true; done
}

report() {  # NAME AGAINST RUNS...: tables and figures of the runs that are there
  local name=$1 against=$2
  shift 2
  [ $# -gt 0 ] || return 0
  merit report "$@" --against "$against" --out "work/report/$name"
  mkdir -p "$name/tables" "$name/figures"
  cp "work/report/$name"/tables/*.{md,csv} "$name/tables"
  cp "work/report/$name"/figures/*.svg "$name/figures"
}

[ -f work/answers.sqlite ] || xz -dkc answers-qwen2.5-coder-1.5b.sqlite.xz > work/answers.sqlite
[ -d work/distinct ] || merit data subset spider --data "$spider" --distinct --out work/distinct
[ -d work/tuning ] || merit data subset spider --data "$spider" --split train --databases 14 --out work/tuning
for set in ${*:-$everything}; do
  grid_of "$set" > "work/$set.toml"
  merit grid "work/$set.toml"
  encoder=$minilm
  [ "${set%-no-oracle}" != bundled ] || encoder=wordllama
  merit audit "work/runs/$set" --encoder "$encoder" --data "$spider" --data "$bird" --data work/distinct --data work/tuning
done
report paper merit $(runs spider "$paper") $(runs bird "$paper") $(runs bundled "$paper")
report distinct merit $(runs distinct "$paper")
report precedent precedent $(for set in spider distinct bird bundled; do runs $set "$principal precedent:any"; done)
report no-oracle precedent $(for set in spider distinct bird bundled; do runs $set-no-oracle any; done)
for set in history tuning tuning-no-oracle; do report $set precedent $(runs $set any); done
