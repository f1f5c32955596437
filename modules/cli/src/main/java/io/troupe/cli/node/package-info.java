/** Commands that processes of a cluster are started with. */
@NullMarked
package io.troupe.cli.node;

import org.jspecify.annotations.NullMarked;
