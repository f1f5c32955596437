/** When something that failed is started again. */
@NullMarked
package io.troupe.core.restart;

import org.jspecify.annotations.NullMarked;
