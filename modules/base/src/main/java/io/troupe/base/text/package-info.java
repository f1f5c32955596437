/** Texts of other formats. */
@NullMarked
package io.troupe.base.text;

import org.jspecify.annotations.NullMarked;
