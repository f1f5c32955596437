/** Conversations of agents, and how their messages lead back to what the policy sampled. */
@NullMarked
package io.troupe.gateway.dialog;

import org.jspecify.annotations.NullMarked;
