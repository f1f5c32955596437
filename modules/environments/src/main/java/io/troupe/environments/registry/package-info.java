/** The list of environments. */
@NullMarked
package io.troupe.environments.registry;

import org.jspecify.annotations.NullMarked;
