/**
 * {@code troupe replay}, {@code explain} and {@code compare}: runs made again and held together.
 */
@NullMarked
package io.troupe.cli.replay;

import org.jspecify.annotations.NullMarked;
