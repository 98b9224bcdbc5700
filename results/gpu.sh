#!/usr/bin/env bash
# Answers for the sets of sets.py, on a machine with a GPU: results/gpu.sh engines|first|start|look|save|stop ...
#
#   engines FOLDER NAME COUNT   start COUNT vLLM engines of a model's folder on ports 8001 and up, and wait for them
#   first NAME SET ...          the first answers that sets begin with, which all methods share
#   start NAME SET ...          run all methods of sets in the background, JOBS (48) processes at a time, in this order
#   look                        how far that is: answers, finished and failed runs, processes
#   save OUT.jsonl.xz           the answers since the last save
#   stop                        end runs and engines
#
# Needs merit and vLLM in PYTHONPATH, and results/work/spider, bird (and distinct, tuning) as make.sh links or makes them. ENCODER can
# name a local copy of the encoder. BASES can name endpoints in place of the engines, with blanks between them. Each engine
# answers some 60 to 90 requests a second, and a process keeps about 150 going: many processes over four engines are fastest.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p work/log
work=$PWD/work
PYTHON=${PYTHON:-python3}
export MERIT_CACHE=$work/cache MERIT_MODEL_REVISION=${MERIT_MODEL_REVISION:-q4_k_m-dequantised-bf16}
export OPENAI_API_KEY=none HF_HUB_OFFLINE=1 VLLM_USE_FLASHINFER_SAMPLER=0 OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
encoder=${ENCODER:+--encoder $ENCODER}

bases() { [ -f "$work/bases" ] && cat "$work/bases" || echo "${BASES:?start the engines first, or name endpoints in BASES}"; }
base() {  # NUMBER: the endpoint for a job
  local all; read -ra all <<<"$(bases)"
  echo "${all[$(($1 % ${#all[@]}))]}"
}
store() { echo "$MERIT_CACHE/answers-v2.sqlite"; }

engines() {
  local folder=$1 name=$2 count=$3 ports="" i
  for ((i = 1; i <= count; i++)); do
    setsid "$PYTHON" -m vllm.entrypoints.openai.api_server --model "$folder" --served-model-name "$name" --port $((8000 + i)) \
      --max-model-len 16384 --max-num-seqs 256 --kv-cache-memory-bytes "${KV_BYTES:-20000000000}" --generation-config vllm \
      --disable-log-stats --no-enable-log-requests > "$work/log/engine$i.log" 2>&1 < /dev/null &
    echo $! >> "$work/engine.pids"
    ports="$ports http://127.0.0.1:$((8000 + i))/v1"
  done
  local until=$((SECONDS + ${WAIT_S:-240})) port
  for ((i = 1; i <= count; i++)); do
    port=$((8000 + i))
    until "$PYTHON" -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$port/health', timeout=2)" 2> /dev/null; do
      if [ $SECONDS -ge $until ] || ! kill -0 "$(sed -n "${i}p" "$work/engine.pids")" 2> /dev/null; then
        tail -n 25 "$work/log/engine$i.log"; echo "engine $i is not up after $SECONDS s" >&2; return 1
      fi
      sleep 1
    done
  done
  echo "$ports" > "$work/bases"
  echo "$count engines after $SECONDS s"
}

first() {
  local name=$1 set number=0; shift
  for set in "$@"; do
    "$PYTHON" sets.py grid "$set" zero_shot --model "openai:$name" $encoder > "$work/first-$set.toml" 2> /dev/null ||
      "$PYTHON" sets.py grid "$set" precedent_grounded --model "openai:$name" $encoder > "$work/first-$set.toml"
    sed -i 's/^seeds = .*/seeds = [0]/; s/^regime = .*/regime = "dbms_only"/; /^review/d; s/^methods = .*/methods = ["zero_shot"]/;
      s/^out = .*/out = "first\/'"$set"'"/; s/^encoder = .*/encoder = "wordllama"/' "$work/first-$set.toml"
    OPENAI_BASE_URL=$(base $((number++))) "$PYTHON" -m merit grid "$work/first-$set.toml" --concurrency 256 > "$work/log/first-$set.log" 2>&1 ||
      { tail -n 3 "$work/log/first-$set.log"; return 1; }
  done
  wc -l "$work"/initial/*.jsonl
}

one() {  # NAME NUMBER SET METHOD: one grid
  local name=$1 number=$2 set=$3 method=$4
  local file="$work/$set-${method//[:=,.]/-}.toml" log="$work/log/$set-${method//[:=,.]/-}.log"
  "$PYTHON" sets.py grid "$set" "$method" --model "openai:$name" $encoder > "$file"
  if OPENAI_BASE_URL=$(base "$number") "$PYTHON" -m merit grid "$file" --concurrency "${CONCURRENCY:-64}" --ahead "${AHEAD:-6}" > "$log" 2>&1
  then echo "$set $method" >> "$work/finished"
  else echo "$set $method: $(tail -n 1 "$log")" >> "$work/failed"
  fi
}

start() {
  local name=$1; shift
  : > "$work/finished"; : > "$work/failed"
  "$PYTHON" sets.py jobs "$@" | nl -nln -w1 -s' ' > "$work/jobs"
  setsid xargs -a "$work/jobs" -P "${JOBS:-48}" -L 1 "$PWD/gpu.sh" one "$name" > "$work/log/jobs.log" 2>&1 < /dev/null &
  echo $! > "$work/jobs.pid"
  echo "$(wc -l < "$work/jobs") jobs"
}

look() {
  "$PYTHON" - "$(store)" <<'P'
import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT count(*) FROM answer").fetchone()[0], "answers")
P
  echo "$(wc -l < "$work/finished") of $(wc -l < "$work/jobs") jobs finished, $(wc -l < "$work/failed") failed, load $(cut -d' ' -f1 /proc/loadavg)"
  tail -n 3 "$work/failed"
}

save() { "$PYTHON" new_answers.py "$(store)" "$work/sent" "$1"; }

stop() {
  local pid
  for pid in $(cat "$work/jobs.pid" "$work/engine.pids" 2> /dev/null); do kill -TERM -- "-$pid" 2> /dev/null || true; done
  rm -f "$work/jobs.pid" "$work/engine.pids" "$work/bases"
}

command=${1:?engines, first, start, look, save or stop}
shift
case $command in
  engines | first | one | start | look | save | stop) "$command" "$@" ;;
  *) echo "there is no '$command'" >&2; exit 2 ;;
esac
