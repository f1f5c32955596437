/** Servers of the Model Context Protocol, whose tools a policy may call. */
@NullMarked
package io.troupe.environments.mcp;

import org.jspecify.annotations.NullMarked;
