/** Rows of data files, whatever the form of the file: JSON Lines, JSON arrays, Parquet, Arrow. */
@NullMarked
package io.troupe.tasks.rows;

import org.jspecify.annotations.NullMarked;
