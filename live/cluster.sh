#!/usr/bin/env bash
# A sweep on a cluster: a controller and two nodes of Slurm on the loopback, from the distribution's packages. A task is
# killed, a second submission finishes what it left, and the table is that of a local run to the last digit.
set -euo pipefail
source "$(dirname "$0")/common.sh"
need slurmctld slurm-wlm
need munged munge
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || fail "Slurm's daemons run as root here: run this as root, in a container"

HOST=$(hostname -s)
mkdir -p "$WORK"/{state,spool.n1,spool.n2,munge}
chmod 755 "$WORK"

start() {
    "$@" >>"$WORK/daemons.log" 2>&1 &
    CHILDREN+=($!)
    disown
}

say "munge, slurmctld, two slurmd"
head -c 1024 /dev/urandom >"$WORK/munge/key"
chmod 400 "$WORK/munge/key"
chmod 711 "$WORK/munge"
start munged --foreground --force --key-file "$WORK/munge/key" --socket "$WORK/munge/socket" \
    --pid-file "$WORK/munge/pid" --log-file "$WORK/munge/log" --seed-file "$WORK/munge/seed"
cat >"$WORK/slurm.conf" <<CONF
ClusterName=tandem
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=16817
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$WORK/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool.%n
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.%n.pid
SlurmctldLogFile=$WORK/slurmctld.log
SlurmdLogFile=$WORK/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MaxArraySize=10001
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=1 RealMemory=1000
PartitionName=tests Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$WORK/slurm.conf
await_file "$WORK/munge/socket"
start slurmctld -D -f "$SLURM_CONF"
start slurmd -D -f "$SLURM_CONF" -N n1
start slurmd -D -f "$SLURM_CONF" -N n2
for waited in $(seq 900); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break
    [ "$waited" -lt 900 ] || { tail -n 20 "$WORK"/*.log; fail "the nodes do not come up on $HOST: see above"; }
    sleep 0.2
done

cat >"$WORK/plan.toml" <<'PLAN'
devices = ["c3"]
capacity = "256MiB"
slc = ["4MiB", "16MiB"]
systems = ["conventional", "hybrid"]
traces = ["synth:ntfs?requests=400000"]
seeds = [1, 2]
PLAN

# Until no job is left.
until_done() {
    local waited
    for waited in $(seq 3000); do
        [ -z "$(squeue -h)" ] && return
        sleep 0.2
    done
    squeue
    fail "the jobs do not end ($waited looks)"
}

say "the scripts"
"$TANDEM" sweep "$WORK/plan.toml" --out "$WORK/far" --on slurm --tasks 6 --dry-run
[ ! -e "$WORK/far/slurm" ] || fail "--dry-run has written something"

say "an array on both nodes; one of its tasks is killed"
"$TANDEM" sweep "$WORK/plan.toml" --out "$WORK/far" --on slurm --partition tests --tasks 6
for _ in $(seq 600); do
    victim=$(squeue -h -t running -n tandem-plan -o %F_%K | head -n 1)
    [ -n "$victim" ] && break
    sleep 0.1
done
[ -n "$victim" ] || fail "no task of the array runs"
scancel --signal=KILL "$victim"
nodes=$(for _ in $(seq 40); do squeue -h -t running -o %N; sleep 0.1; done | sort -u | tr '\n' ' ')
until_done
case $nodes in *n1*n2*) ;; *) fail "the tasks ran on '$nodes' only" ;; esac
there=$(ls "$WORK/far/runs" | wc -l)
say "tasks ran on $nodes; $there results are there, and not all"
grep -q PARTIAL "$WORK"/far/slurm/*-collect.log || fail "the collecting job does not say that results are missing"

say "a second submission finishes the rest"
"$TANDEM" sweep "$WORK/plan.toml" --out "$WORK/far" --on slurm --partition tests --tasks 6 | tee "$WORK/second.log"
grep -q 'in 1 tasks' "$WORK/second.log" || fail "it does more than what was left"
until_done
"$TANDEM" sweep "$WORK/plan.toml" --out "$WORK/near" >/dev/null
cmp "$WORK/far/table.csv" "$WORK/near/table.csv" || fail "the cluster's table is not that of a local run"
"$TANDEM" sweep "$WORK/plan.toml" --out "$WORK/far" --on slurm | grep -q 'are there' || fail "something is left"
say "the table of the cluster is that of a local run"
