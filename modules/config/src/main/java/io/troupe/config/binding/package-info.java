/** YAML bound to records, with the origin of each value and every violation at once. */
@NullMarked
package io.troupe.config.binding;

import org.jspecify.annotations.NullMarked;
