/** Which environments there are. */
@NullMarked
package io.troupe.environments.registry;

import org.jspecify.annotations.NullMarked;
