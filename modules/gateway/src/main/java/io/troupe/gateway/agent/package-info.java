/** Agents: their processes, and the episodes that they make. */
@NullMarked
package io.troupe.gateway.agent;

import org.jspecify.annotations.NullMarked;
