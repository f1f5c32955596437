/** {@code troupe doctor}: what this machine has and lacks. */
@NullMarked
package io.troupe.cli.doctor;

import org.jspecify.annotations.NullMarked;
