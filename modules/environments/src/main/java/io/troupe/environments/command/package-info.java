/** Environments that are programs: one line of JSON for each request and each reply. */
@NullMarked
package io.troupe.environments.command;

import org.jspecify.annotations.NullMarked;
