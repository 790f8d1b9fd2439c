# ranks.py - what the end of a step costs with two ranks.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil

from lib.report import Row
from lib.session import Failure

BAR_US = 50
LAUNCHERS = {'Open MPI': 'mpirun.openmpi', 'MPICH': 'mpiexec.mpich'}
# Also as root, also on a machine of two cores, and without a core for each.
ENVIRONMENT = {
    'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'OMPI_MCA_rmaps_base_oversubscribe': '1',
    'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe',
    'PRTE_MCA_hwloc_default_binding_policy': 'none',
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
}


def commands(session, rounds):
    """How the two ranks are started -> the command."""
    build = os.path.dirname(session.weir)
    tool = [os.path.join(build, 'bench', 'bench-barrier'), str(rounds)]
    found = {'local': [*tool, '2',
                       f"local:{os.path.join(session.data, 'barrier')}"]}
    for name, launcher in LAUNCHERS.items():
        module = {'Open MPI': 'openmpi', 'MPICH': 'mpich'}[name]
        path = os.path.join(build, 'src', 'comm', f'weir-mpi-{module}.so')
        if shutil.which(launcher) and os.path.exists(path):
            found[name] = [launcher, '-n', '2', *tool]
    return found


def measure(session):
    os.makedirs(session.data, exist_ok=True)
    os.environ.update(ENVIRONMENT)
    os.environ['WEIR_MODULES'] = os.path.join(
        os.path.dirname(session.weir), 'src', 'comm')
    rows = []
    for name, command in commands(session,
                                  session.pick(5000, 1000, 10)).items():
        out = session.run(command, quiet=True).stdout.split()
        if len(out) != 2:
            raise Failure(f"{' '.join(command)}: printed {out}")
        tight, after = map(float, out)
        rows.append(Row(
            f'the end of a step with two ranks, {name}', f'< {BAR_US} us',
            f'{after:.1f} us', after < BAR_US,
            [f'after steps of 0.4 ms; one after the other {tight:.1f} us']))
    return rows
