/** The configuration of a run: its records, the rules between them, and the plan they make. */
@NullMarked
package io.troupe.app.config;

import org.jspecify.annotations.NullMarked;
