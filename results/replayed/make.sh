#!/usr/bin/env bash
# The runs of the current protocol that recorded answers suffice for: results/replayed/make.sh SPIDER BIRD
#
# SPIDER and BIRD are the benchmarks' folders, with the content that ../README.md names. Asks no model. Needs merit on the PATH.
# Everything is made in results/work/replayed, and the tables are replaced.
set -euo pipefail
spider=$(realpath "${1:?usage: results/replayed/make.sh SPIDER BIRD}")
bird=$(realpath "${2:?usage: results/replayed/make.sh SPIDER BIRD}")
results=$(realpath "$(dirname "$0")/..")
work=$results/work/replayed
export MERIT_CACHE=$work/store
mkdir -p "$work"
cd "$work"
ln -sfn "$spider" spider
ln -sfn "$bird" bird
if [ ! -f merged ]; then  # of a prompt that two files answer, the first one's answer is used
  for file in answers-qwen2.5-coder-1.5b tuning-live/answers-oracle tuning-live/answers-live; do
    xz -dkc "$results/$file.sqlite.xz" > unpacked.sqlite
    merit answers merge unpacked.sqlite
    rm unpacked.sqlite
  done
  touch merged
fi

grid() {  # SET SEEDS METHOD ...: a grid file of some seeds and methods
  local set=$1 seeds=$2
  shift 2
  python3 "$results/sets.py" grid "$set" "$@" --model "replay:$work/store/answers-v2.sqlite" --encoder wordllama |
    sed "s/^seeds = .*/seeds = [$seeds]/"
}

live_dropped() {  # the prompts for live use on Spider, judged as they were when they were chosen
  grid spider-live "$@" | sed 's/"kept"/"dropped"/; s/^out = .*/out = "runs\/spider-live-dropped"/'
}

# What is missing, of methods that do not remember. Of BIRD's first prompts 28 have changed, so that nothing was drawn for them.
methods="zero_shot grounded resample resample_grounded"
{
  for set in spider spider-dropped bundled spider-no-oracle bundled-no-oracle; do
    grid $set 0,1,2 $methods > all.toml
    python3 "$results/replayed/missing.py" $set all.toml
  done
  for set in spider-live bird-live bundled-live; do
    grid $set 0 $methods > all.toml
    python3 "$results/replayed/missing.py" $set all.toml
  done
  live_dropped 0 $methods > all.toml
  python3 "$results/replayed/missing.py" spider-live-dropped all.toml
} > missing.jsonl
gzip -9nc missing.jsonl > "$results/replayed/missing.jsonl.gz"
mkdir -p "$results/replayed/tables"
python3 "$results/replayed/table.py" > bounds.part
mv bounds.part "$results/replayed/tables/bounds.md"

# The runs that miss nothing:
: > audit.part
run() {  # SET: its grid
  local data=()
  case $1 in spider*) data=(--data "$spider") ;; bird*) data=(--data "$bird") ;; esac
  merit grid "$1.toml"
  # A run does not hold where a candidate asks for the time of day: its result is another one every time.
  { merit audit "runs/$1" "${data[@]}" 2>&1 || true; } | grep '^runs/' >> audit.part
}

made() {  # SET SEEDS METHOD ...
  grid "$@" > "$1.toml"
  run "$1"
}

made spider 0,1,2 zero_shot grounded
made bird 0,1,2 zero_shot grounded
made bundled 0,1,2 zero_shot grounded
made bundled-live 0 zero_shot grounded resample resample_grounded
made bird-live 0 zero_shot grounded resample
made spider-live 0 zero_shot grounded
made spider-dropped 0,1,2 zero_shot grounded resample
live_dropped 0 $methods > spider-live-dropped.toml
run spider-live-dropped
mv audit.part "$results/replayed/audit.txt"
merit report runs/{spider,bird,bundled} --against zero_shot --out report/first
merit report runs/{spider,bird,bundled}-live --against resample --out report/live
merit report runs/spider-dropped --against zero_shot --out report/dropped
merit report runs/spider-live-dropped --against resample --out report/live-dropped
for part in first live dropped live-dropped; do
  mkdir -p "$results/replayed/tables/$part"
  cp report/$part/tables/{main,paired}.{md,csv} "$results/replayed/tables/$part"
done
