/** Readers of the binary formats of data files, Parquet and Arrow, and the JSON values of cells. */
@NullMarked
package io.troupe.tasks.columns;

import org.jspecify.annotations.NullMarked;
