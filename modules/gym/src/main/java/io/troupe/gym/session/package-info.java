/** A gym carried out: its configuration, journal, files and report. */
@NullMarked
package io.troupe.gym.session;

import org.jspecify.annotations.NullMarked;
