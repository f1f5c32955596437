/** The commands of gyms. */
@NullMarked
package io.troupe.cli.gym;

import org.jspecify.annotations.NullMarked;
