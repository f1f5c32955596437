/** Commands that show and steer a run: status, top, orders, stacks. */
@NullMarked
package io.troupe.cli.ops;

import org.jspecify.annotations.NullMarked;
