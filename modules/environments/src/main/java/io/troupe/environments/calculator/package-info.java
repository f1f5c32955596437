/** An environment whose one tool calculates. */
@NullMarked
package io.troupe.environments.calculator;

import org.jspecify.annotations.NullMarked;
