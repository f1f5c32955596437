/** What a completion is worth. */
@NullMarked
package io.troupe.verifiers;

import org.jspecify.annotations.NullMarked;
