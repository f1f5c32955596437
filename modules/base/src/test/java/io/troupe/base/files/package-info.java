/** Tests of whole files, private files and trees. */
@NullMarked
package io.troupe.base.files;

import org.jspecify.annotations.NullMarked;
