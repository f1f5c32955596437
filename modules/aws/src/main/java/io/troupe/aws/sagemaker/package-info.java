/** {@code troupe sagemaker}: runs as training jobs, from submission to download. */
@NullMarked
package io.troupe.aws.sagemaker;

import org.jspecify.annotations.NullMarked;
