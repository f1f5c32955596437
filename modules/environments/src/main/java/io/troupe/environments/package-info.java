/** What a policy acts in during an episode: environments, and the tools that they offer. */
@NullMarked
package io.troupe.environments;

import org.jspecify.annotations.NullMarked;
