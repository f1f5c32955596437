/** Training on several ranks: what they exchange, and how a step is divided among them. */
@NullMarked
package io.troupe.engine.parallel;

import org.jspecify.annotations.NullMarked;
