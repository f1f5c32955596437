/** Files that are whole or absent, private files, and trees of files. */
@NullMarked
package io.troupe.base.files;

import org.jspecify.annotations.NullMarked;
