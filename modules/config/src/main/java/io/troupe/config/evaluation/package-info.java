/** What an evaluation asks, and how it samples. */
@NullMarked
package io.troupe.config.evaluation;

import org.jspecify.annotations.NullMarked;
