/** Hosts over ssh: what they are fit for, builds and keys on them, and processes that they keep. */
@NullMarked
package io.troupe.launch.remote;

import org.jspecify.annotations.NullMarked;
