/** Tests of the policy on DJL/PyTorch. */
@NullMarked
package io.troupe.engine.djl;

import org.jspecify.annotations.NullMarked;
