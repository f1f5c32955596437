/** Configuration of the policy. */
@NullMarked
package io.troupe.config.policy;

import org.jspecify.annotations.NullMarked;
