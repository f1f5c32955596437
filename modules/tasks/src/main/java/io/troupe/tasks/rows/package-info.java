/** Readers of data files in every format: JSON Lines, JSON arrays, CSV, Parquet, Arrow. */
@NullMarked
package io.troupe.tasks.rows;

import org.jspecify.annotations.NullMarked;
