/** What a host of a training job does inside its container. */
@NullMarked
package io.troupe.aws.container;

import org.jspecify.annotations.NullMarked;
