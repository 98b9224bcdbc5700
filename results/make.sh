#!/usr/bin/env bash
# What is in this folder again, from the model's answers: results/make.sh SPIDER BIRD [SET ...]
#
# SPIDER and BIRD are the benchmarks' folders, with the content that README.md names; a SET is one of sets.py (default: all).
# Asks no model. Needs merit with the extra [paper] on the PATH and 3 GB of disk. ENCODER can name a local copy of the encoder:
# sentence-transformers:/FOLDER/all-MiniLM-L6-v2. Everything is made in results/work; what is published is replaced only by a
# report that has all of its sets.
set -euo pipefail
spider=$(realpath "${1:?usage: results/make.sh SPIDER BIRD [SET ...]}")
bird=$(realpath "${2:?usage: results/make.sh SPIDER BIRD [SET ...]}")
shift 2
cd "$(dirname "$0")"
encoder=${ENCODER:-sentence-transformers:sentence-transformers/all-MiniLM-L6-v2}
work=$PWD/work
export MERIT_CACHE=$work/cache
mkdir -p "$work"
sets=${*:-$(python3 sets.py list | cut -d' ' -f1)}

recording() {  # SET: the answers of its model
  local file=$PWD/answers-1.5b.jsonl.xz
  [[ $1 != *-small ]] || file=$PWD/answers-0.5b.jsonl.xz
  [ -f "$file" ] || { echo "$file is not there; README.md says which answers have been made" >&2; return 1; }
  echo "$file"
}

data_of() {  # SET: the data that its runs were made over
  case $1 in bundled*) ;; bird*) echo "$bird" ;; distinct* | tuning*) echo "$work/${1%%-*}" ;; *) echo "$spider" ;; esac
}

report() {  # NAME AGAINST SET ...: tables and figures of some sets, published where all of them are there
  local name=$1 against=$2 set there="" runs=""
  shift 2
  for set in "$@"; do [ ! -f "$work/$set.audit" ] || { there="$there $set"; runs="$runs $work/runs/$set"; }; done
  [ -n "$there" ] || return 0
  merit report $runs --against "$against" --out "$work/report/$name"
  if [ "$(echo $there)" != "$*" ]; then
    echo "results/work/report/$name has$there only; results/$name is left as it is"
    return 0
  fi
  mkdir -p "$name/tables" "$name/figures"
  cp "$work/report/$name"/tables/*.{md,csv} "$name/tables"
  cp "$work/report/$name"/figures/*.svg "$name/figures"
}

ln -sfn "$spider" "$work/spider"
ln -sfn "$bird" "$work/bird"
for set in $sets; do
  model=replay:$(recording "$set")
  case $set in
    distinct*) [ -d "$work/distinct" ] || merit data subset spider --data "$spider" --distinct --out "$work/distinct" ;;
    tuning*) [ -d "$work/tuning" ] || merit data subset spider --data "$spider" --split train --databases 14 --out "$work/tuning" ;;
  esac
  python3 sets.py grid "$set" --model "$model" --encoder "$encoder" > "$work/$set.toml"
  merit grid "$work/$set.toml"
  own=$encoder data=$(data_of "$set")
  [[ $set != bundled* && $set != *-reviewed ]] || own=wordllama
  merit audit "$work/runs/$set" --encoder "$own" ${data:+--data "$data"} | tee "$work/audit.part"
  mv "$work/audit.part" "$work/$set.audit"
done
report paper merit spider bird bundled
report dropped merit spider-dropped
report distinct merit distinct
report small merit spider-small bird-small bundled-small
report parts precedent_grounded spider-parts bird-parts spider-live-parts
report live resample spider-live bird-live bundled-live distinct-live
report no-oracle resample spider-no-oracle bird-no-oracle bundled-no-oracle
report reviewed precedent_grounded spider-reviewed bird-reviewed bundled-reviewed distinct-reviewed
report related precedent_grounded spider-related bird-related
report tuning precedent_grounded tuning tuning-live
