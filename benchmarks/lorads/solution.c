/* LoRADS, as published, prints a summary and writes no solution. Linked in with
   -Wl,--wrap=LORADSEndProgram, this writes one before the summary, into the file that the environment
   names, in the words of SDPLR: multipliers, then the factor of every block, column by column. */
#include <stdio.h>
#include <stdlib.h>

#include "def_lorads_solver.h"

void __real_LORADSEndProgram(lorads_solver *solver);

static void numbers(FILE *file, const double *values, long count, double scale)
{
    for (long i = 0; i < count; i++) fprintf(file, "%.17g\n", values[i] * scale);
}

void __wrap_LORADSEndProgram(lorads_solver *solver)
{
    const char *path = getenv("LORADS_SOLUTION");
    FILE *file = path ? fopen(path, "w") : NULL;
    /* Rows lose what they have of a diagonal block, so that there is no solution to write. */
    if (file && solver->nLpCols == 0) {
        long rows = (long)solver->nRows, cones = (long)solver->nCones;
        fprintf(file, "dual variable %ld\n", rows);
        /* The objective was multiplied where LoRADS began anew, and the multipliers with it. */
        numbers(file, solver->var->dualVar, rows, 1.0 / solver->scaleObjHis);
        for (long k = 0; k < cones; k++) {
            const lorads_sdp_dense *R = solver->var->R[k];
            long n = (long)R->nRows, rank = (long)R->rank;
            fprintf(file, "primal variable %ld s %ld %ld %ld\n", k + 1, n, rank, rank);
            numbers(file, R->matElem, n * rank, 1.0);
        }
        fprintf(file, "end\n");
    }
    if (file) fclose(file);
    __real_LORADSEndProgram(solver);
}
