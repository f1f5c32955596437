/** The form of messages between JVMs. */
@NullMarked
package io.troupe.net.wire;

import org.jspecify.annotations.NullMarked;
