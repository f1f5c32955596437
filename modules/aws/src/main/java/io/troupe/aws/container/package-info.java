/** The work of a host of a training job inside its container. */
@NullMarked
package io.troupe.aws.container;

import org.jspecify.annotations.NullMarked;
