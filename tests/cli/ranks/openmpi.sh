# The same under Open MPI's launcher.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
need mpirun.openmpi
launch() { timeout 60 mpirun.openmpi "$@"; }
# shellcheck disable=SC1091
. "$(dirname "$0")/mpi.inc"
