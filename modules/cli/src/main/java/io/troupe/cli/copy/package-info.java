/** Commands about the folders of runs and their copies. */
@NullMarked
package io.troupe.cli.copy;

import org.jspecify.annotations.NullMarked;
