/**
 * {@code troupe export} and {@code troupe trace}: a run's records in the formats of other tools.
 */
@NullMarked
package io.troupe.cli.export;

import org.jspecify.annotations.NullMarked;
