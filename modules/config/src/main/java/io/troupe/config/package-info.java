/** The configuration of a run: one record per section, with its rules. */
@NullMarked
package io.troupe.config;

import org.jspecify.annotations.NullMarked;
