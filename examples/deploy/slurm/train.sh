#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
#SBATCH --job-name=tagma
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=4
#SBATCH --signal=TERM@60
#
# A program that is parameter servers and workers at once, as a step of a Slurm job:
#
#     sbatch --ntasks=6 examples/deploy/slurm/train.sh PS PROGRAM [OPTION ...]
#
# The first PS ranks are parameter servers, all others workers. The step ends when one task fails; when the chief, worker 0,
# has ended well, the others are told to end.
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: sbatch --ntasks=N $0 PS PROGRAM [OPTION ...]" >&2
  exit 2
fi
ps=$1
shift
ranks=${SLURM_NTASKS:?is set by Slurm, in a job with --ntasks}
if [ "$ps" -lt 0 ] || [ "$ps" -ge "$ranks" ]; then
  echo "$ps parameter servers and a worker at least do not fit into $ranks tasks" >&2
  exit 2
fi
jobs="worker=$((ranks - ps))"
[ "$ps" -eq 0 ] || jobs="ps=$ps,$jobs"

# A secret of this job, in a directory that all its nodes see.
umask 077
secret=$(mktemp "${TAGMA_SECRET_DIRECTORY:-$PWD}/tagma-secret.XXXXXX")
trap 'rm -f "$secret"' EXIT
head -c 32 /dev/urandom | base64 >"$secret"

# Where ranks are is known for a distribution in blocks. --wait: how long the others may go on when the first has ended.
srun --distribution=block --kill-on-bad-exit=1 --wait=5 "$@" --jobs "$jobs" --secret-file "$secret"
