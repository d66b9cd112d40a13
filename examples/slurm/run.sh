#!/bin/bash
# A run that takes longer than a job may: it stops with a checkpoint before the time is over, and queues itself again.
#     sbatch run.sh heat.toml --device cuda
# Add here what your cluster wants: --partition, --account, --gres=gpu:1, --cpus-per-task, --mem
#SBATCH --job-name=simsuite
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@120

# SIGTERM comes two minutes before the end of the time, and when somebody or a job of higher priority ends this one. It
# is passed on to simsuite, which writes a checkpoint and ends with code 75; `wait` then waits again. Code 143 is that of
# a simsuite that was ended before it could begin.
SIMSUITE=${SIMSUITE:-simsuite} # or: SIMSUITE="apptainer run --nv simsuite_cuda.sif" sbatch run.sh ..
told=0
child=
trap 'told=1; if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; fi' TERM
$SIMSUITE run "$@" &
child=$!
if [ "$told" = 1 ]; then kill -TERM "$child"; fi
told=1
while [ "$told" = 1 ]; do
    told=0
    wait "$child"
    code=$?
done
if [ "$code" -eq 75 ] || [ "$code" -eq 143 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
