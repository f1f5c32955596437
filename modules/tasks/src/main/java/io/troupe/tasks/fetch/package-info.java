/** Finds the files of data sets: in a folder, in the cache, on the Hugging Face hub. */
@NullMarked
package io.troupe.tasks.fetch;

import org.jspecify.annotations.NullMarked;
