/** Task folders in the format of Harbor: what they ask, what they place, and how they reward. */
@NullMarked
package io.troupe.environments.harbor;

import org.jspecify.annotations.NullMarked;
