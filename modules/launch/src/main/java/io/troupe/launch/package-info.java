/** Node agents started, followed and ended on many hosts over SSH. */
@NullMarked
package io.troupe.launch;

import org.jspecify.annotations.NullMarked;
