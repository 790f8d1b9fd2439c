# The same under MPICH's launcher.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
need mpiexec.mpich
launch() { timeout 60 mpiexec.mpich "$@"; }
# shellcheck disable=SC1091
. "$(dirname "$0")/mpi.inc"
