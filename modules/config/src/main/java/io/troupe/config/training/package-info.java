/** Configuration of the loss, the optimizer and the steps. */
@NullMarked
package io.troupe.config.training;

import org.jspecify.annotations.NullMarked;
